# docker build -t gym-memory . && docker run --rm -v "$PWD/results:/home/player/results" gym-memory demo
# EXTRAS chooses the backends: docker build --build-arg EXTRAS=textworld,llm,scienceworld ...
ARG EXTRAS=textworld,webshop,qa,llm,viewer

# The large image has the C compiler and make that build jericho, which TextWorld needs.
FROM python:3.11 AS build
ARG EXTRAS
COPY . /source
RUN python -m venv /opt/gym-memory \
    && /opt/gym-memory/bin/pip install --no-cache-dir -c /source/constraints.txt "/source[$EXTRAS]"

FROM python:3.11-slim
ARG EXTRAS
# ScienceWorld's engine is a Java program.
RUN case ",$EXTRAS," in *,scienceworld,*|*,all,*) apt-get update \
    && apt-get install -y --no-install-recommends default-jre-headless \
    && rm -rf /var/lib/apt/lists/* ;; esac
COPY --from=build /opt/gym-memory /opt/gym-memory
RUN useradd --create-home player
USER player
WORKDIR /home/player
ENV OMP_NUM_THREADS=1 PATH=/opt/gym-memory/bin:$PATH
ENTRYPOINT ["gym-memory"]
CMD ["--help"]
